"""Tools beside ``keep``: command line, doctor, checkpoints, pictures and explanations.

``import winops`` imports none of these modules.
"""
