//! Pages of the book that are run as they stand: the lines of a shell that a comment `<!-- run: NAME -->` marks, with the real helm and
//! kubectl against a real API server, the operator as the release installs it, and a simulated Azure.
//!
//! | module | what lives here |
//! |---|---|
//! | [`page`] | the blocks of a page, and whether it shows what is printed |
//! | [`stage`] | where they are run |
//! | `first_hour`, `postgresql`, `gitops`, `uninstall`, `image_only` | a page each |
//! | [`rights`] | the actions in Azure that requests need, and the page that has them |

mod first_hour;
mod gitops;
mod image_only;
mod page;
mod postgresql;
mod rights;
mod stage;
mod uninstall;
