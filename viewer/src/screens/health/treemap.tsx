/** Folders and files as tiles, all of them one stop of the keyboard: arrows move, Enter goes in, Escape goes out. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { choose } from "../../app/router.ts";
import type { CoverNode } from "../../data/types.ts";
import { Verdict } from "../../parts/badges.tsx";
import { useWidth } from "../../parts/charts/frame.tsx";
import { bytes, percent } from "../../parts/charts/numbers.ts";
import { counted, number } from "../../parts/counted.ts";
import { RefLink } from "../../parts/items.tsx";
import { isFile, type Measure, neighbour, type Tile, tilesOf } from "./tree.ts";

const LABEL_WIDTH = 44;
const LABEL_HEIGHT = 18;

interface Props {
  folder: CoverNode;
  above: CoverNode | null;
  measure: Measure;
  /** The path of the tile that is kept below; empty where none is. */
  at: string;
  titles: Record<string, string>;
}

export function Treemap({ folder, above, measure, at, titles }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<CoverNode | null>(null);
  const [stop, setStop] = useState(0);
  const moving = useRef(false);
  const height = width < 560 ? 340 : 420;
  const tiles = useMemo(() => tilesOf(folder, measure, width, height), [folder, measure, width, height]);
  const path = folder.path;
  useEffect(() => {
    setOver(null);
    setStop(0);
    // Whoever went in by a key goes on in there.
    if (moving.current) box.current?.querySelector<HTMLElement>(".tile")?.focus();
    moving.current = false;
  }, [path]);

  const kept = at ? tiles.find((tile) => tile.node.path === at)?.node : undefined;
  const told = over ?? kept ?? folder;
  const into = (node: CoverNode) => {
    if (node.children.length && node !== folder) choose({ folder: node.path, at: "" });
    else choose({ at: node.path === at ? "" : node.path });
  };
  const out = () => above && choose({ folder: above.path, at: "" });
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = neighbour(tiles, stop, event.key);
    if (next >= 0) {
      setStop(next);
      box.current?.querySelectorAll<HTMLElement>(".tile")[next]?.focus();
    } else if ((event.key === "Escape" || event.key === "Backspace") && (at || above)) {
      moving.current = !at;
      if (at) choose({ at: "" });
      else out();
    } else if (event.key === "Enter" || event.key === " ") {
      const tile = tiles[stop];
      if (!tile) return;
      moving.current = tile.node.children.length > 0;
      into(tile.node);
    } else return;
    event.preventDefault();
  };

  return (
    <>
      <div
        class="treemap"
        ref={box}
        role="group"
        aria-label={`${folder.path || "All code"}: ${said(folder)}. Arrow keys move, Enter goes in, Escape goes out.`}
        style={{ height: `${height}px` }}
        onKeyDown={pressed}
        onPointerLeave={() => setOver(null)}
      >
        {tiles.map((tile, number) => (
          <TileButton
            key={`${tile.depth} ${tile.node.path}`}
            tile={tile}
            stop={number === Math.min(stop, tiles.length - 1)}
            kept={tile.node === kept}
            onOver={() => setOver(tile.node)}
            onFocus={() => {
              setStop(number);
              setOver(tile.node);
            }}
            onClick={() => into(tile.node)}
          />
        ))}
      </div>
      <Told node={told} titles={titles} />
    </>
  );
}

interface TileProps {
  tile: Tile;
  stop: boolean;
  kept: boolean;
  onOver: () => void;
  onFocus: () => void;
  onClick: () => void;
}

function TileButton({ tile, stop, kept, onOver, onFocus, onClick }: TileProps) {
  const { node, group } = tile;
  const room = tile.width >= LABEL_WIDTH && tile.height >= LABEL_HEIGHT;
  return (
    <button
      type="button"
      class={`tile${group ? " group" : ""}${node.covered ? "" : " bare"}${kept ? " kept" : ""}`}
      tabIndex={stop ? 0 : -1}
      aria-label={`${node.path || node.name}: ${said(node)}`}
      aria-pressed={isFile(node) ? kept : undefined}
      data-path={node.path}
      style={{
        left: `${tile.x}px`,
        top: `${tile.y}px`,
        width: `${tile.width}px`,
        height: `${tile.height}px`,
        "--c": `var(--${node.verdict || "unanchored"})`,
        "--share": `${node.files ? (node.covered / node.files) * 100 : 0}%`,
      }}
      onPointerEnter={onOver}
      onFocus={onFocus}
      onClick={onClick}
    >
      {room ? <span>{group ? `${node.name} · ${percent(node.covered, node.files)}` : node.name}</span> : null}
    </button>
  );
}

/** What is at the pointer, or was clicked; below the map, so that its links can be reached. */
function Told({ node, titles }: { node: CoverNode; titles: Record<string, string> }) {
  return (
    <div class="told" role="status">
      <p>
        <code>{node.path || "All code"}</code>
        <Verdict verdict={node.verdict || null} because={isFile(node) ? "" : "The worst of what covers it"} />
        <span class="faint">
          {covers(node)}, {bytes(node.bytes)}
        </span>
      </p>
      {node.refs.length ? (
        <p class="told-refs">
          {node.refs.map((ref) => (
            <RefLink key={ref} refText={ref} title={titles[ref]} />
          ))}
        </p>
      ) : null}
    </div>
  );
}

function covers(node: CoverNode): string {
  if (isFile(node)) return node.covered ? "covered" : "not covered";
  return `${number(node.covered)} of ${counted(node.files, "file")} covered`;
}

function said(node: CoverNode): string {
  return `${covers(node)}, ${bytes(node.bytes)}${node.verdict ? `, ${node.verdict}` : ""}`;
}
