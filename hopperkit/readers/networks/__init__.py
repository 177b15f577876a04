"""A site's network files: Slurm's topology, node names that encode a position, ibnetdiscover.

=================  ==========================================================
hosts              lists of hosts as Slurm writes them
slurm_topology     topology.conf, topology.yaml, ``scontrol show topology``
node_names         xnames of HPE Cray EX, cnames of Cray XC and XE
ibnetdiscover      the switches and cables of an InfiniBand network
site_network       any of them, detected by its contents
placements         the locations of a log's jobs in it
=================  ==========================================================
"""

from hopperkit.readers.networks.placements import jobs_in_network
from hopperkit.readers.networks.site_network import SiteNetwork, read_site_network

__all__ = ["SiteNetwork", "jobs_in_network", "read_site_network"]
