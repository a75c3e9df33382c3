//! Which powers the helpers keep for a moment, and that the command has none.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
};

use super::{Tried as _, Trouble};

/// Beyond the last that any kernel knows.
const END: u32 = 64;

/// Lets the second helper arrange the mounts: a new program would start without that power.
pub fn pass_on() -> Result<(), Trouble> {
    let needed = [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN];
    let mut sets = capabilities(None).tried("cannot read capabilities")?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets).tried("cannot keep capabilities")?;
    for capability in needed {
        configure_capability_in_ambient_set(capability, true)
            .tried("cannot pass capabilities on")?;
    }
    Ok(())
}

/// For good: no program that is started later gets any back.
pub fn drop_all() -> Result<(), Trouble> {
    for capability in (0..END).filter_map(|bit| 1u64.checked_shl(bit)) {
        // Those above the last are not known, and so not there to be had.
        remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(capability)).ok();
    }
    clear_ambient_capability_set().tried("cannot clear capabilities")?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).tried("cannot drop capabilities")
}
