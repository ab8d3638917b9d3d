"""Notes what a run of the program shows about the questions that a conversion leaves open.

The program runs unchanged on its own framework. ``modules`` gives its modules code in which the expressions of those
questions are looked at by ``observer``; ``answers`` says what is noted of a value, and ``session`` begins and ends it.
"""
