"""Sinks for the changes of windows with a key: tables by MERGE, Kafka, PostgreSQL and Redis.

``import winops`` does not load these modules; a name such as ``winops.merge_into`` does.
"""
