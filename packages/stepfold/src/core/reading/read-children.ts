import { type ChildState, isTerminal } from "../snapshot/snapshot.ts";
import type { JsonObject } from "../values/json.ts";
import { count, invalid } from "./read-number.ts";
import { type Place, placeIn } from "./read-place.ts";
import { readScope } from "./read-scope.ts";
import { flag, object } from "./read-text.ts";

/** The children of a snapshot from outside, each checked by itself. */
export function readChildren({ childStates = {} }: JsonObject, root: Place): Map<string, ChildState> {
  const children = new Map<string, ChildState>();
  for (const [key, child] of Object.entries(object(childStates, "/childStates")))
    children.set(key, readChild(child as JsonObject, placeIn(root, key)));
  return children;
}

function readChild(value: JsonObject, place: Place): ChildState {
  const { pointer } = place;
  const { workflow, queued } = value;
  const scope = readScope(value, place);
  const isKept = flag(value.kept, `${pointer}/kept`);
  if (isKept && !isTerminal(scope.status)) return invalid(`${pointer}/kept`, "says nothing of a child that is open");
  // it has waited for room since it woke, so none of its steps can have failed in the meantime
  if (queued !== undefined && scope.status !== "active")
    return invalid(`${pointer}/queued`, "says nothing of a child that is not ready to go on");
  return Object.freeze({
    ...scope,
    workflow: workflow as string,
    version: count(value.version, `${pointer}/version`, 0, place.version),
    ...(queued !== undefined && { queued: count(queued, `${pointer}/queued`, 0, place.version) }),
    ...(isKept && { kept: true as const }),
  });
}
