"""Runtime side of paddletorch: each framework's GradScaler semantics on the other framework's tensors.

``paddletorch_shim.torch`` has Paddle's API for torch tensors, ``paddletorch_shim.paddle`` torch's for Paddle
tensors. Nothing is imported here, so that a program pays for the one framework it uses.
"""
