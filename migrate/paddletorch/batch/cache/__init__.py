"""Results of earlier runs, so that a file that would come out the same is not converted again."""

from paddletorch.batch.cache.results import ResultCache

__all__ = ["ResultCache"]
