/** Text with structure, made of elements one by one: nothing in it is ever read as HTML. */
import { Fragment, h, type VNode } from "preact";
import type { Prose as Tree } from "../data/types.ts";

const TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s hr br table thead tbody tr th td a".split(" "),
);
const SAFE_LINK = /^(https?:|mailto:|#\/)/i;

export function Prose({ tree }: { tree: Tree }) {
  return <div class="prose">{tree.map(element)}</div>;
}

function element(part: Tree[number], number: number): VNode | string {
  if (typeof part === "string") return part;
  const [tag, attributes, children] = part;
  const inner = children.map(element);
  if (!TAGS.has(tag)) return <Fragment key={number}>{inner}</Fragment>;
  // A page of ours has one first heading: its title.
  const made = /^h[1-5]$/.test(tag) ? `h${Math.min(6, Number(tag[1]) + 2)}` : tag;
  const given: Record<string, string | number> = { key: number };
  if (tag === "a") {
    const to = attributes.href ?? "";
    if (!SAFE_LINK.test(to)) return <Fragment key={number}>{inner}</Fragment>;
    given.href = to;
    if (!to.startsWith("#/")) Object.assign(given, { rel: "noopener noreferrer nofollow", target: "_blank" });
  }
  if (tag === "ol" && attributes.start) given.start = Number(attributes.start) || 1;
  if (tag === "code" && attributes.class) given["data-language"] = attributes.class;
  return h(made, given, ...inner);
}
