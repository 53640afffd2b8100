# SPDX-License-Identifier: BSD-3-Clause
"""What programs import: `import headway` hands it on."""
