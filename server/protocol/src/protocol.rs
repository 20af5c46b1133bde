//! The nouns of the wire: methods, records, options. Nothing here decides or does.
