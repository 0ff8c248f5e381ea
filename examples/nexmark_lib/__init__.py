"""The Nexmark model of an auction house: persons, auctions and bids, and who won.

The proportions, the hot sellers, auctions and bidders, the prices and the lengths of auctions
are those of the generator that Apache Beam and the nexmark project share. Columns that only
make rows longer are left out: descriptions, e-mail addresses and padding.
"""
