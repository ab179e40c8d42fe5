import type { Event, ResumedEvent } from "../../packages/stepfold/src/core/snapshot/event.ts";
import { isRefused } from "./nodes.ts";

/** I18: an answer that the code refuses never counts, and every other answer is accepted. */
export function* wrongRefusals(events: readonly Event[]): Generator<string> {
  const given = new Map<string, ResumedEvent>();
  for (const event of events) {
    if (!("pathId" in event)) continue;
    const path = `${event.scope ?? ""}>${event.pathId}`;
    const answer = given.get(path);
    if (event.type === "resumed") given.set(path, event);
    // an execution that goes on from another one may have been answered there
    if (event.type === "answerRefused" && !answer && isFromOther(events[0])) continue;
    if (event.type === "answerRefused" && (!answer || answer.version !== event.answer || !isRefused(answer.payload)))
      yield `I18 version ${event.version} refuses an answer that the code takes, or none`;
    if (event.type === "completed" && answer && isRefused(answer.payload))
      yield `I18 version ${event.version} goes on with an answer that the code refuses`;
    if (event.type === "answerRefused" || event.type === "completed") given.delete(path);
  }
}

function isFromOther(first: Event | undefined): boolean {
  return first?.type === "started" && first.checkpoint !== undefined;
}
