import type { StartedEvent } from "stepfold";
import { loadFunctions } from "stepfold/expressions";
import type { ExecutionState } from "../../src/model/replay/execution-state.ts";
import { ReplayHistory } from "../../src/model/replay/replay-history.ts";
import type { History } from "./history.fixture.ts";

/** The state of a real execution, as the page folds it. @param version default: the last one */
export async function stateNow(history: History, version: number = Number.MAX_SAFE_INTEGER): Promise<ExecutionState> {
  await loadFunctions();
  const events = await history.events();
  const { hash } = (events[0] as StartedEvent).definition;
  const replay = new ReplayHistory();
  replay.define(hash, await history.definition(hash));
  replay.add(events);
  return replay.state(version)!;
}
