import { CommanderError } from "commander";
import { BadInput } from "./bad-input.ts";
import { exitCode } from "./exit-code.ts";
import { complain, flushed, surviveLostReaders } from "./output.ts";
import { program } from "./program.ts";
import { reportFailure } from "./report-failure.ts";

/** Runs one command. @returns the exit code, after all output has left the process */
export async function main(argv: readonly string[]): Promise<number> {
  surviveLostReaders();
  const code = await perform(argv);
  await flushed();
  return code;
}

async function perform(argv: readonly string[]): Promise<number> {
  let code: number = exitCode.done;
  const commands = program((ended) => {
    code = ended;
  });
  if (argv.length === 0) {
    complain(commands.helpInformation());
    return exitCode.badInput;
  }
  try {
    await commands.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.done;
    return reportFailure(error instanceof CommanderError ? usageError(error) : error, argv.includes("--json"));
  }
}

function usageError({ message }: CommanderError): BadInput {
  // the second line of a message of Commander may suggest a word, in parentheses
  const [first = "", suggestion] = message.replace(/^error: /, "").split("\n");
  const hint = suggestion?.replace(/^\((.*)\)$/, "$1");
  return new BadInput("USAGE", first, { hint: hint || "stepfold help lists the verbs; stepfold help VERB their options" });
}
