import type { Event, Json } from "stepfold";
import { isObject } from "../requests/members.ts";
import { cutValue } from "./cut-value.ts";

/**
 * What a brief event keeps of a member. `keep`: all of it. `text`: nothing of its text. `value`: only its size. `values`: a list or an object
 * of values, each only its size. `scan`: its members by these rules. `each`: it is an object with free keys, whose members are walked.
 * `payload` and `error`: see below. Members without a rule are values.
 */
type Rule = "keep" | "text" | "value" | "values" | "scan" | "each" | "payload" | "error" | "reason";

const keep = (names: string): Record<string, Rule> => Object.fromEntries(names.split(" ").map((name) => [name, "keep"]));

/**
 * The rules by the names of members, of events and of everything in them. What is told: which steps, paths and waits there are, their names,
 * ids, keys, times and counts, who may and did act, codes of errors, and metadata, by which lists are filtered. What is not: inputs, outputs,
 * payloads, variables, items, and all text that people or code have written about a failure.
 */
const rules: Readonly<Record<string, Rule>> = {
  ...keep(
    "type version at sizeBytes who scope pathId turn nodeId attempt startedAt workflowId incarnation tenant unnamed startAt permit rate taskQueue",
  ),
  ...keep("deadlineAt givenTime parent scheduledBy visit handles terminates run quick restarts descendants totalExecutionTime firstNodeId"),
  ...keep("definition metadata dropsCompensations since idempotencyKey retryAt anew handle incident waitId answer by name key expiresAt"),
  ...keep("pathIds completes ids code until id kind typeSchema begins transient openedAt resumeAt timeoutAt responders quorum tally"),
  ...keep(
    "status currentNodeId rounds lastStartedAt steps schemas answered from workflow concurrency open completeWhen remaining tolerated",
  ),
  ...keep(
    "total next done failed cancelled attempts forks via waves inputs draining nextRetryAt stepPath acted timestamp to ttlMs allowed",
  ),
  ...keep("compensated schedule queued kept settled inEvents notUndone got number"),
  ...{ input: "value", output: "value", item: "value", value: "value", suspendPayload: "value", schema: "value" },
  ...{ items: "values", mapItems: "values", appended: "values" },
  ...{ message: "text", reason: "reason", error: "error", cause: "error", payload: "payload" },
  ...{ context: "each", childStates: "each", variables: "each" },
  ...{ consequences: "scan", results: "scan", result: "scan", ended: "scan", undoes: "scan", checkpoint: "scan", state: "scan" },
  // a name, or the signal that a step sends, with its payload
  ...{ signal: "scan" },
  ...{ starts: "scan", sends: "scan", inbox: "scan", outbox: "scan", waits: "scan", children: "scan", map: "scan", activePaths: "scan" },
  ...{ resumed: "scan", reopens: "scan", answers: "scan", ending: "scan", begun: "scan", again: "scan", closing: "scan" },
  ...{ compensations: "scan", refused: "scan", issues: "values" },
};

/** Reasons that the engine gives; all others are text of people. */
const knownReasons: readonly unknown[] = ["late", "cancelled", "fork", "adopt"];

const made = new WeakMap<Event, Event>();

/**
 * Returns an event without its values, for callers who may see how an execution stands, but not what it holds. It can be folded as the whole
 * event can: whatever decides where an execution stands is in it.
 */
export function briefEvent(event: Event): Event {
  const before = made.get(event);
  if (before) return before;
  const brief = scan(event) as Record<string, unknown>;
  // here the members are the values themselves, not the values with the versions that hold them
  if ("variables" in event && event.variables) brief.variables = cutEach(event.variables);
  made.set(event, brief as unknown as Event);
  return brief as unknown as Event;
}

function scan(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scan);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, seen(ruleOf(name), member, value)]));
}

function ruleOf(name: string): Rule {
  return Object.hasOwn(rules, name) ? rules[name]! : "value";
}

function seen(rule: Rule, member: unknown, owner: Readonly<Record<string, unknown>>): unknown {
  switch (rule) {
    case "keep":
      return member;
    case "scan":
      return scan(member);
    case "each":
      return isObject(member) ? Object.fromEntries(Object.entries(member).map(([key, one]) => [key, scan(one)])) : cutValue(member);
    case "values":
      return cutEach(member);
    case "text":
      return "";
    case "reason":
      return knownReasons.includes(member) ? member : "";
    case "error":
      return isObject(member) ? silentError(member) : "";
    case "payload":
      return seenPayload(member, owner);
    case "value":
      return member === null ? null : cutValue(member);
  }
}

/** A list stays as long as it is, because the engine counts items. */
function cutEach(member: unknown): unknown {
  if (Array.isArray(member)) return member.map(cutValue);
  if (!isObject(member)) return cutValue(member);
  return Object.fromEntries(Object.entries(member).map(([key, one]) => [key, Array.isArray(one) ? one.map(cutValue) : cutValue(one)]));
}

function silentError(error: Readonly<Record<string, unknown>>): unknown {
  const { name, code, nodeId, notUndone, cause, item } = error;
  const told = { name, message: "", ...(code !== undefined && { code }), ...(nodeId !== undefined && { nodeId }) };
  const more = { ...(notUndone !== undefined && { notUndone }), ...(item !== undefined && { item }) };
  return { ...told, ...more, ...(isObject(cause) && { cause: silentError(cause) }) };
}

/**
 * The payload of a wait for a decision, or for a delivery, is made by the engine, which needs it to explain the wait. Of an answer the flags
 * that are true stay: one of them decides whether it counts for a quorum.
 */
function seenPayload(payload: unknown, { kind, type, by, at }: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(payload)) return cutValue(payload);
  if (kind === "incident" || kind === "delivery") return scan(payload);
  const isAnswer = type === "resumed" || (by !== undefined && at !== undefined);
  const flags = isAnswer ? Object.entries(payload as Readonly<Record<string, Json>>).filter(([, value]) => value === true) : [];
  return { ...Object.fromEntries(flags), ...cutValue(payload) };
}
