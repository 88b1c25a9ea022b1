// Nothing of it is called by name: see mutex.c.
