import type { ExpressionLanguage } from "../core/definition/template.ts";
import { executionScope } from "./compile/scope.ts";
import { compileStoredTemplate, compileTemplate } from "./compile-template.ts";

/** The `{{ }}` language in the form that `compile` takes. */
export const expressionLanguage: ExpressionLanguage = Object.freeze({ compileTemplate, executionScope });

/** The same for definitions that were accepted before; see `compileStoredTemplate`. */
export const storedExpressionLanguage: ExpressionLanguage = Object.freeze({ compileTemplate: compileStoredTemplate, executionScope });
