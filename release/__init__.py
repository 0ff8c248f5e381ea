"""Tools that make and check a release: versions, bills of materials, pages, the rehearsal."""
