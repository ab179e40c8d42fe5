import type { ExpressionLanguage } from "../core/definition/template.ts";
import { compileTemplate } from "./compile-template.ts";
import { executionScope } from "./scope.ts";

/** The `{{ }}` language, as `compile` takes it. */
export const expressionLanguage: ExpressionLanguage = Object.freeze({ compileTemplate, executionScope });
