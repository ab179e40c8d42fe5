import { defineNode, type StepContext } from "stepfold";
import { describe, it } from "vitest";
import { defineConfig } from "./config.ts";

const plain = defineNode({ executor: () => ({ data: 1 }) });
const bank = defineNode({ executor: (_data, step: StepContext<unknown, { bank: string }>) => ({ data: step.globals.bank }) });

describe("B7: globals of a config", () => {
  it("are asked for where some node needs them: a value, or what opens them", () => {
    defineConfig({ nodeDefinitions: { plain, bank }, globals: { bank: "b" } });
    defineConfig({ nodeDefinitions: { bank }, globals: () => ({ globals: { bank: "b" } }) });
    // @ts-expect-error the bank is missing
    defineConfig({ nodeDefinitions: { plain, bank } });
    // @ts-expect-error the bank is text
    defineConfig({ nodeDefinitions: { bank }, globals: () => ({ globals: { bank: 5 } }) });
  });

  it("may be left out where no node needs any", () => {
    defineConfig({});
    defineConfig({ nodeDefinitions: { plain }, workflows: [] });
    defineConfig({ nodeDefinitions: { plain }, globals: { token: "x" } });
  });
});
