/** Those with the same key together, in the order in which they come. */
export function grouped<T>(all: readonly T[], keyOf: (one: T) => string): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    const some = found.get(key);
    if (some) some.push(one);
    else found.set(key, [one]);
  }
  return [...found];
}
