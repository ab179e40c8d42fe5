import { describe, expectTypeOf, it } from "vitest";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinitions } from "../engine/node/node-definition.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import { builtinNodes } from "../nodes/index.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import { createRuntime } from "./create-runtime.ts";
import type { Runtime } from "./runtime.ts";

declare const store: SnapshotStore;

const plain = defineNode({ executor: () => ({ data: 1 }) });
const bank = defineNode({ executor: (_data, step: StepContext<unknown, { bank: string }>) => ({ data: step.globals.bank }) });

describe("B7: globals of a runtime", () => {
  it("are asked for where some node needs them", () => {
    expectTypeOf(createRuntime({ store, nodeDefinitions: { ...builtinNodes, bank }, globals: { bank: "b" } })).toEqualTypeOf<Runtime>();
    // @ts-expect-error the bank is missing
    createRuntime({ store, nodeDefinitions: { ...builtinNodes, bank } });
    // @ts-expect-error also with nothing in it
    createRuntime({ store, nodeDefinitions: { plain, bank }, globals: undefined });
    // @ts-expect-error the bank is text
    createRuntime({ store, nodeDefinitions: { plain, bank }, globals: { bank: 5 } });
  });

  it("may be left out where no node needs any, or nobody can know", () => {
    createRuntime({ store, nodeDefinitions: builtinNodes });
    createRuntime({ store, nodeDefinitions: { plain }, globals: { token: "x" } });
    const nodeDefinitions: NodeDefinitions = { plain };
    createRuntime({ store, nodeDefinitions });
  });
});

describe("the policy of actions of a runtime", () => {
  it("is asked about nothing but what nodes can do to executions", () => {
    const asked = (action: "start" | "signal" | "broadcast" | "continueAs"): boolean => action !== "signal";
    createRuntime({ store, nodeDefinitions: builtinNodes, may: ({ action }) => asked(action) });
  });
});
