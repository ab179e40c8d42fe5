import type { ExpressionLanguage } from "../core/definition/template.ts";
import { executionScope } from "./compile/scope.ts";
import { compileTemplate } from "./compile-template.ts";

/** The `{{ }}` language in the form that `compile` takes. */
export const expressionLanguage: ExpressionLanguage = Object.freeze({ compileTemplate, executionScope });
