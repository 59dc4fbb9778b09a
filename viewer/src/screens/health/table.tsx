/** The numbers of a chart as a table, for whoever would rather read them; and tables that stay inside of the page. */
import type { ComponentChildren } from "preact";

export function AsTable({ heads, rows }: { heads: string[]; rows: string[][] }) {
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <Table heads={heads} rows={rows} label="The numbers of the chart" />
    </details>
  );
}

/** The first column is text, the others are numbers unless they are named in `text`. */
export function Table(props: { heads: string[]; rows: ComponentChildren[][]; label: string; text?: number[] }) {
  const side = (number: number) => (number === 0 || props.text?.includes(number) ? "" : "number");
  return (
    <div class="table-room" role="region" aria-label={props.label} tabIndex={0}>
      <table class="figures-table">
        <thead>
          <tr>
            {props.heads.map((head, number) => (
              <th key={head} scope="col" class={side(number)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, line) => (
            <tr key={line}>
              {row.map((value, number) => (
                <td key={number} class={side(number)}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
