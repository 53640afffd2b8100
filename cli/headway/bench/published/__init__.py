# SPDX-License-Identifier: BSD-3-Clause
"""The published results of the source tree: claims, the state of their files, pages."""
