import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal } from "../../expectations.ts";

const definition: WorkflowDefinition = {
  id: "order",
  nodes: [{ id: "constructor", type: "http", data: { "a.b": "{{ input.x }}", $ref: "\u0000'\"", list: [], none: null } }],
  edges: [{ source: "constructor", target: "constructor", sourceHandle: null }],
};

/** What `putDefinition` and `getDefinition` promise. */
export const definitionCases: readonly ContractCase[] = [
  {
    name: "definitions: kept under their hash",
    async run({ store }) {
      await store.putDefinition("h1", definition);
      equal(await store.getDefinition("h1"), definition, "definition");
      equal(await store.getDefinition("h2"), null, "another hash");
    },
  },
  {
    name: "definitions: never change",
    async run({ store }) {
      await store.putDefinition("h1", definition);
      await store.putDefinition("h1", { ...definition, id: "changed" });
      equal(await store.getDefinition("h1"), definition, "definition");
    },
  },
  {
    name: "definitions: many may put the same one at once",
    async run({ store }) {
      await Promise.all(Array.from({ length: 10 }, () => store.putDefinition("h1", definition)));
      equal(await store.getDefinition("h1"), definition, "definition");
    },
  },
  {
    name: "definitions: changing what was given or got changes nothing",
    async run({ store }) {
      const given = JSON.parse(JSON.stringify(definition)) as { id: string };
      await store.putDefinition("h1", given as WorkflowDefinition);
      given.id = "spoilt";
      const got = (await store.getDefinition("h1")) as { id: string } | null;
      if (got && !Object.isFrozen(got)) got.id = "spoilt";
      equal(await store.getDefinition("h1"), definition, "definition");
    },
  },
  {
    name: "definitions: prune leaves them",
    async run({ store }) {
      await store.putDefinition("h1", definition);
      await store.prune({ before: Number.MAX_SAFE_INTEGER });
      equal(await store.getDefinition("h1"), definition, "definition");
    },
  },
];
