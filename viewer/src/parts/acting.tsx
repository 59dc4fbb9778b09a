/** What may be done to records. Each piece shows nothing where the page may only be read. */
export { Activity } from "./acting/activity.tsx";
export { EditButton } from "./acting/edit.tsx";
export { AcceptButton, RejectButton } from "./acting/proposals.tsx";
export { StageSelect } from "./acting/stage.tsx";
export { SupersedeButton } from "./acting/supersede.tsx";
export { ConfirmButton, StaleButton } from "./acting/verdicts.tsx";
