"""What processes of ``multiprocessing`` do that the engine and the shim start: end with the one that started them."""

from __future__ import annotations

import os


def end_with_parent() -> None:
    """End when the process that started this one does, of which the queues between them tell nothing."""
    import multiprocessing
    import threading

    def wait() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
