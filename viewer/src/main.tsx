/** The page begins here. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href, navigate, useRoute } from "./app/router.ts";
import { Shell } from "./app/shell.tsx";
import { applyTheme, readTheme } from "./app/theme.ts";
import { Toasts } from "./app/toasts.tsx";
import { exportedSource, isExported } from "./data/exported.ts";
import { hasJustArrived, liveSource, takeToken } from "./data/live.ts";
import { source, useSource } from "./data/source.ts";
import type { Session } from "./data/types.ts";
import { type Asked, PageContext, useData } from "./data/use.ts";
import { Empty, Failed, Loading } from "./parts/states.tsx";
import { GraphScreen } from "./screens/graph/screen.tsx";
import { HealthScreen } from "./screens/health.tsx";
import { InboxScreen } from "./screens/inbox.tsx";
import { MapScreen } from "./screens/map.tsx";
import { ProjectsScreen } from "./screens/projects.tsx";
import { RecordScreen } from "./screens/record.tsx";
import { RecordsScreen } from "./screens/records.tsx";
import { SearchScreen } from "./screens/search.tsx";
import { TimelineScreen } from "./screens/timeline.tsx";
import { TodayScreen } from "./screens/today.tsx";

const SHOWN = {
  projects: ProjectsScreen,
  today: TodayScreen,
  map: MapScreen,
  record: RecordScreen,
  records: RecordsScreen,
  inbox: InboxScreen,
  graph: GraphScreen,
  search: SearchScreen,
  timeline: TimelineScreen,
  health: HealthScreen,
};

function Page() {
  const asked = useData<Session>("session");
  if (!asked.data) return asked.error ? <Refused asked={asked} /> : <Loading />;
  return <Opened session={asked.data} />;
}

/** Without its token the page shows nothing, and says how to come by one. */
function Refused({ asked }: { asked: Asked<Session> }) {
  return (
    <main class="refused">
      <h1>Quire</h1>
      {asked.error?.status === 401 ? (
        <Empty title="This link has no token, or an old one.">
          Each run of <code>memory view</code> prints a link of its own. Open that one, or run <code>memory view --open</code>.
        </Empty>
      ) : (
        <Failed error={asked.error!} again={asked.again} />
      )}
    </main>
  );
}

function Opened({ session }: { session: Session }) {
  const route = useRoute();
  useEffect(() => {
    // Who starts the page in a project wants to see that one; all projects are one step away.
    if (hasJustArrived() && session.project && route.screen === "projects") navigate(href(session.project), true);
  }, []);
  const [version, setVersion] = useState("");
  const [live, setLive] = useState(false);
  useEffect(() => {
    setVersion("");
    return source().watch(route.project, (pulse) => setVersion(pulse.version), setLive);
  }, [route.project]);
  const Screen = route.screen === "unknown" ? null : SHOWN[route.screen];
  useEffect(() => {
    const name = route.screen === "record" ? route.rest : route.screen;
    document.title = `${name[0]!.toUpperCase()}${name.slice(1)} · Quire`;
  }, [route.screen, route.rest]);
  return (
    <PageContext.Provider value={{ session, project: route.project, version, live }}>
      <Toasts>
        <Shell route={route}>
          {Screen ? (
            <Screen key={`${route.project} ${route.screen} ${route.rest}`} route={route} />
          ) : (
            <Empty title="There is no such page.">
              <a href="#/">All projects</a>
            </Empty>
          )}
        </Shell>
      </Toasts>
    </PageContext.Provider>
  );
}

applyTheme(readTheme());
const begun = isExported() ? Promise.resolve(exportedSource()) : takeToken().then(liveSource);
void begun.then((source) => {
  useSource(source);
  render(<Page />, document.getElementById("page")!);
});
