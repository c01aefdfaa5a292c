"""The commands of the front door, one module each; cli.py picks one."""
