/** The cell of a table that names services. */
import { serviceStyle } from '../service-color.js'
import { truncate } from '../detail/tree.js'

export function Services({ services }: { readonly services: readonly string[] }) {
  return (
    <td class="services" data-name="Service">
      {services.map((service) => (
        <span key={service} class="chip service" style={serviceStyle(service)}>
          {truncate(service, 40)}
        </span>
      ))}
    </td>
  )
}
