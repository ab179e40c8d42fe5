/** True for keys that lead from data to code in JavaScript. Reading them is a mistake or an attack. */
export function isForbiddenKey(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}
