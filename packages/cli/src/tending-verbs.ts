import type { Command } from "commander";
import { type Act, options } from "./program-options.ts";
import { doctor } from "./verbs/doctor.ts";
import { migrate } from "./verbs/migrate.ts";

/** The verbs that look after a store. */
export function addTendingVerbs(stepfold: Command, act: Act): void {
  stepfold
    .command("migrate")
    .description("make or update the tables of a store; nothing else ever does, but for SQLite files")
    .option("--print-sql", "print the statements for an empty database instead of running them")
    .option(...options.store)
    .option(...options.json)
    .action(act(migrate));
  stepfold
    .command("doctor")
    .description("find out whether a store answers and keeps every promise, in spaces of its own that are deleted again")
    .option("--quick", "only whether it answers and has its tables")
    .option(...options.store)
    .option(...options.json)
    .action(act(doctor));
}
