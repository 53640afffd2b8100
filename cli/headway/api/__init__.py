"""What programs import: `import headway` hands it on."""
