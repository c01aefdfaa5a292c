"""Problems that an entry describes by itself, tasks among them: wrong numbers and their causes."""
