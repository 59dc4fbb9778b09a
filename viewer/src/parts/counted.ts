/** Numbers with their words: "1 question", "10,243 records". */

const NUMBER = new Intl.NumberFormat("en");

export function number(count: number): string {
  return NUMBER.format(count);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
