import { groups } from "./groups.ts";
import { PeerMissing } from "./peer.ts";

// Runs one case, in a process of its own: node bench/run-case.ts GROUP CASE. Prints its figures as JSON.
// To see where the time goes: node --cpu-prof bench/run-case.ts memory stepfold-10

const [groupName = "", caseName = ""] = process.argv.slice(2);
const found = (await groups[groupName]?.())?.cases[caseName];
if (!found) {
  console.error(`There is no case "${caseName}" in the group "${groupName}".`);
  process.exit(2);
}
try {
  console.log(JSON.stringify(await found.sample()));
} catch (error) {
  if (!(error instanceof PeerMissing)) throw error;
  console.log(JSON.stringify({ missing: error.peer }));
}
// timers that the case left would keep the process alive
process.exit();
