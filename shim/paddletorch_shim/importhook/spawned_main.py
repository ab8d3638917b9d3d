"""The main module of a process that ``multiprocessing`` spawned from a converted script: becomes that script."""

from paddletorch_shim.importhook import program

program.become_spawned_script(globals())
