import { registerHooks } from "node:module";

/** The packages that a config may import although they are installed only beside this command, as with `npx`. */
const own = /^(?:stepfold|@stepfold\/(?:cli|server|studio))(?:\/|$)/;

let isRegistered = false;

/**
 * Lets configs import Stepfold in folders where it is not installed: then the packages of this command are taken. What is installed in the
 * folder counts first.
 */
export function findOwnPackages(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!own.test(specifier) || (error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
