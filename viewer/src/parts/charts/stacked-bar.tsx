/** Parts of a whole as one bar; and amounts beside each other, each with its name. */
import type { ComponentChildren } from "preact";

export interface Part {
  name: string;
  value: number;
  /** A colour of the style, such as `fresh`. */
  colour: string;
}

export function StackedBar({ parts, label }: { parts: Part[]; label: string }) {
  const there = parts.filter((part) => part.value > 0);
  const said = there.map((part) => `${part.value} ${part.name}`).join(", ");
  return (
    <div class="stacked-bar" role="img" aria-label={`${label}: ${said}`}>
      {there.map((part) => (
        <i
          key={part.name}
          title={`${part.name}: ${part.value}`}
          style={{ flexGrow: part.value, "--c": `var(--${part.colour})` }}
        />
      ))}
    </div>
  );
}

export interface Amount {
  key: string;
  name: ComponentChildren;
  value: number;
  /** What is said of it at the right. */
  said: ComponentChildren;
}

export function Amounts({ amounts, label }: { amounts: Amount[]; label: string }) {
  const most = Math.max(1, ...amounts.map((one) => one.value));
  return (
    <ul class="amounts" aria-label={label}>
      {amounts.map((one) => (
        <li key={one.key}>
          <span class="amount-name">{one.name}</span>
          <span class="amount-said">{one.said}</span>
          <i class="amount-bar" aria-hidden="true">
            <i style={{ width: `${Math.max(0.5, (one.value / most) * 100)}%` }} />
          </i>
        </li>
      ))}
    </ul>
  );
}
