"""Results of earlier runs, so that a file that would come out the same is not converted again."""
