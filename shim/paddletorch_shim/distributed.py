"""One overflow on one rank makes every rank skip: found_inf agreed over a process group by MAX.

Pass the group to a scaler (``GradScaler(process_group=group)``) when each rank holds only a part of the
parameters, so that no rank can know alone whether the step must be skipped. Every rank of the group must
then unscale the same optimizers in the same order, also a rank without gradients.
"""

from __future__ import annotations

from typing import Any


def agree_torch(found_inf: Any, group: Any) -> None:
    """All-reduce a torch tensor in place over a ``torch.distributed`` group."""
    import torch.distributed

    torch.distributed.all_reduce(found_inf, op=torch.distributed.ReduceOp.MAX, group=group)


def agree_paddle(found_inf: Any, group: Any) -> None:
    """All-reduce a Paddle tensor in place over a ``paddle.distributed`` group."""
    import paddle.distributed

    paddle.distributed.all_reduce(found_inf, op=paddle.distributed.ReduceOp.MAX, group=group)
