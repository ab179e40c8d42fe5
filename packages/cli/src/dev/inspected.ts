const inspectOption = /(?:^|[\s"])--inspect(?:-brk|-wait)?(?=[\s="]|$)/;

/** Returns true if processes that are started from here wait for a debugger, which may stop them for as long as it likes. */
export function isInspected(execArgv: readonly string[] = process.execArgv, nodeOptions: string = process.env.NODE_OPTIONS ?? ""): boolean {
  return inspectOption.test(nodeOptions) || execArgv.some((option) => inspectOption.test(option));
}
