import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { sqliteStore } from "../../../src/stores/databases/sqlite/index.ts";
import { openInside } from "../../stores/sqlite/open-inside.fixture.ts";
import { commandsInStates } from "./commands.fixture.ts";
import { costsOfRuns } from "./costs.fixture.ts";
import { findings } from "./findings.fixture.ts";
import { restartEnds } from "./restart-ends.fixture.ts";

const stores = {
  memory: async () => memoryStore(),
  SQLite: async () => sqliteStore(":memory:"),
};

for (const [name, open] of Object.entries(stores)) {
  restartEnds(name, open);
  commandsInStates(name, open);
  findings(name, open);
}

costsOfRuns("SQLite", async () => {
  const { store, statements } = openInside(":memory:");
  return { store, answers: statements };
});
