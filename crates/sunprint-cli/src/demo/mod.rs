use crate::args::DemoArgs;
use crate::words::Talk;
use sunprint::error::Result;
pub fn run(_: &DemoArgs, _: Talk) -> Result<()> {
    Ok(())
}
