/** Icons in the text color. They are decorative: a text next to them has the meaning. */
const PATHS = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.4 10.4 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 13V3.5M4 7.5 8 3.5l4 4',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8Z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  breadcrumbs: 'M3 12.5h2.5v-3H8v-3h2.5v-3H13',
  columns: 'M2.5 3.5h11v9h-11ZM6.2 3.5v9M9.8 3.5v9',
  feedback: 'M2.5 3.5h11v7h-6l-3 3v-3h-2Z',
  clear: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      class="icon-image"
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
