//! Keeps facts over sessions (spec 8).

use super::Tool;
use crate::plan::{Done, Plan, Run, World};
use engine::memory::{Wish, wish};
use protocol::acp::ToolKind;
use protocol::memory::MemoryCall;
use protocol::tool::Access;
use std::time::Duration;

pub struct Memory;

impl Tool for Memory {
    const NAME: &'static str = MemoryCall::NAME;
    const KIND: ToolKind = ToolKind::Think;
    type Input = MemoryCall;

    async fn plan(input: MemoryCall, world: World) -> Result<Plan, String> {
        let Some(memory) = world.memory else {
            return Err("There is no memory: the person has switched it off.".to_owned());
        };
        let wish = wish(input)?;
        let access = Access::Memory {
            summary: wish.title(),
            is_search: matches!(wish, Wish::Search { .. }),
        };
        let plan = Plan::build(wish.title()).access(access);
        Ok(plan.then(async move |run: Run| {
            let patience = Duration::from_millis(run.world.limits.memory_ms);
            let acting = tokio::task::spawn_blocking(move || memory.act(&wish, patience));
            let acted = acting.await.unwrap_or_else(|_| {
                Err("The memory could not be used; look at what it holds.".to_owned())
            });
            acted.map(Done::text)
        }))
    }
}
