import { loadFunctions } from "stepfold/expressions";
import { ReplayHistory } from "./replay-history.ts";
import type { ReplayAnswer, ReplayRequest } from "./replay-messages.ts";

/**
 * Returns a function that takes the messages of the page one after the other, in their order, and answers them. The functions of expressions
 * are loaded first, because definitions cannot be compiled without them.
 */
export function replayServer(answer: (message: ReplayAnswer) => void): (message: ReplayRequest) => void {
  let history = new ReplayHistory();
  let ready: Promise<unknown> | null = null;
  const take = (message: ReplayRequest): void => {
    try {
      if (message.type === "reset") history = new ReplayHistory();
      else if (message.type === "define") history.define(message.hash, message.definition);
      else if (message.type === "add") history.add(message.events);
      else if (message.type === "state") answer({ request: message.request, state: history.state(message.version) });
      else answer({ request: message.request, snapshot: history.snapshot(message.version) });
    } catch (error) {
      if ("request" in message) answer({ request: message.request, problem: error instanceof Error ? error.message : "" });
    }
  };
  return (message) => {
    // without its functions a definition does not compile, and its events are told as they are
    ready ??= loadFunctions().catch(() => undefined);
    ready = ready.then(() => take(message));
  };
}
