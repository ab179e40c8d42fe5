import type { CompiledWorkflow } from "../definition/compiled.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { parentKey } from "../snapshot/child-key.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { invalid } from "./read-number.ts";
import { into, object } from "./read-text.ts";

/** Where in a snapshot from outside something is read. */
export interface Place {
  /** Key of the child; empty for the execution itself. */
  readonly scope: string;
  readonly pointer: string;
  readonly workflow: CompiledWorkflow;
  /** Of the whole snapshot. */
  readonly version: number;
  /** What every scope runs, by its key. */
  readonly workflows: ReadonlyMap<string, CompiledWorkflow>;
  /** Throws, because the definition has changed and lacks a node that the execution stands at. */
  readonly lacks: (nodeId: string) => never;
}

/** The place of the execution itself; `childPlaces` has those of its children. */
export function rootPlace(plain: JsonObject, workflow: CompiledWorkflow, workflowId: string, version: number): Place {
  const { definition } = plain;
  const actual = isJsonObject(definition) && typeof definition.hash === "string" ? definition.hash : "?";
  const lacks = (nodeId: string): never => {
    throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: workflow.hash, actual, missing: [nodeId] });
  };
  return { scope: "", pointer: "", workflow, version, workflows: workflowsOf(plain.childStates ?? {}, workflow), lacks };
}

const segment = "[^/>@#\\s]{1,64}#[1-9]\\d{0,15}(?:/(?:0|[1-9]\\d{0,8}))?";
const keyForm = new RegExp(`^${segment}(?:>${segment})*$`);
/** How deep sub-workflows may be nested: more than any limit allows, and far less than a call stack holds. */
const maxNesting = 500;

/** What every child runs. Children may come in any order: some databases sort the keys of objects. */
function workflowsOf(value: Json, root: CompiledWorkflow): ReadonlyMap<string, CompiledWorkflow> {
  const states = object(value, "/childStates", "must be an object of children, by key");
  const found = new Map([["", root]]);
  const keys = Object.keys(states).map((key) => ({ key, nesting: key.split(">").length }));
  for (const { key, nesting } of keys.sort((a, b) => a.nesting - b.nesting)) {
    const pointer = into("/childStates", key);
    if (!keyForm.test(key)) return invalid(pointer, "is no key of a child");
    if (nesting > maxNesting) return invalid(pointer, "lies too deep");
    const around = found.get(parentKey(key));
    if (!around) return invalid(pointer, "lies in a child that is not there");
    const { workflow: name } = object(states[key], pointer);
    const workflow = typeof name === "string" ? around.workflows.get(name) : undefined;
    if (!workflow) return invalid(`${pointer}/workflow`, "must name a workflow of the definition");
    found.set(key, workflow);
  }
  return found;
}

/** The place of a child. */
export function placeIn(root: Place, scope: string): Place {
  return { ...root, scope, pointer: into("/childStates", scope), workflow: root.workflows.get(scope)! };
}
