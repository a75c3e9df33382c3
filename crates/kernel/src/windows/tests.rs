//! What facts make of windows, and what is wished of them.
