import type { Resumed } from "../snapshot/snapshot.ts";
import { isWorkflowId } from "../values/id.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { bound, invalid, time } from "./read-number.ts";
import { flag, list, object, optionalText, text, texts } from "./read-text.ts";

const kinds = ["external", "signal", "timer", "child"];
const reasons: readonly Json[] = ["payload", "signal", "timer", "child"] satisfies readonly Resumed["by"][];

/** The waits of a path, checked. @param name what their ids begin with: the path's own, and its turn */
export function checkWaits(value: Json, pointer: string, name: string): void {
  const waits = list(value, pointer);
  if (waits.length === 0) invalid(pointer, "must say what the path waits for");
  const ids = new Set<string>();
  for (const [i, wait] of waits.entries()) {
    const at = `${pointer}/${i}`;
    checkWait(object(wait, at, "must be an object with an id"), at);
    const id = text((wait as JsonObject).id, `${at}/id`);
    const isOurs = id === name || (id.startsWith(`${name}.`) && /^[1-9]\d{0,8}$/.test(id.slice(name.length + 1)));
    if (!isOurs || ids.has(id)) invalid(`${at}/id`, `must be "${name}", of several "${name}.1" and so on, each once`);
    ids.add(id);
  }
}

function checkWait(wait: JsonObject, pointer: string): void {
  const { kind, schema, resumeAt, workflowId } = wait;
  if (!kinds.includes(kind as string)) invalid(`${pointer}/kind`, `must be one of ${kinds.join(", ")}`);
  if (kind === "signal") text(wait.signal, `${pointer}/signal`, "must name a signal");
  if (kind === "child" && !isWorkflowId(workflowId)) invalid(`${pointer}/workflowId`, "must name an execution");
  if (kind !== "child" && workflowId !== undefined) invalid(`${pointer}/workflowId`, "says nothing but where the kind is child");
  if (kind === "timer" && resumeAt === undefined) invalid(`${pointer}/resumeAt`, "must say until when");
  if (schema !== undefined && typeof schema !== "boolean" && !isJsonObject(schema)) invalid(`${pointer}/schema`, "must be a JSON Schema");
  time(resumeAt, `${pointer}/resumeAt`);
  time(wait.timeoutAt, `${pointer}/timeoutAt`);
  optionalText(wait, ["signal", "key", "tally"], pointer);
  flag(wait.transient, `${pointer}/transient`);
  checkQuorum(wait, pointer);
}

function checkQuorum({ responders, quorum, answers, tally }: JsonObject, pointer: string): void {
  if (responders !== undefined) texts(responders, `${pointer}/responders`, "must be a list of names");
  if (quorum !== undefined) {
    const wanted = bound(quorum, `${pointer}/quorum`, 1);
    if (responders !== undefined && wanted > (responders as readonly Json[]).length)
      invalid(`${pointer}/quorum`, "must not be higher than there are responders");
  }
  if (tally !== undefined && quorum === undefined) invalid(`${pointer}/tally`, "says nothing without a quorum");
  if (answers === undefined) return;
  if (quorum === undefined) invalid(`${pointer}/answers`, "says nothing without a quorum");
  checkAnswers(answers, `${pointer}/answers`);
}

function checkAnswers(value: Json, pointer: string): void {
  for (const [i, answer] of list(value, pointer, "must be a list of answers").entries()) {
    const { by, at } = object(answer, `${pointer}/${i}`, "must be an object with by and at");
    text(by, `${pointer}/${i}/by`, "must say who answered");
    if (time(at, `${pointer}/${i}/at`) === undefined) invalid(`${pointer}/${i}/at`, "must say when");
  }
}

/** Why a step runs again, checked. */
export function checkResumed(value: Json, pointer: string): void {
  const resumed = object(value, pointer);
  if (!reasons.includes(resumed.by!)) invalid(`${pointer}/by`, `must be one of ${reasons.join(", ")}`);
  optionalText(resumed, ["signal", "key", "who"], pointer);
  const { schema } = resumed;
  if (schema !== undefined && typeof schema !== "boolean") object(schema, `${pointer}/schema`);
  if (resumed.answers !== undefined) checkAnswers(resumed.answers, `${pointer}/answers`);
}
