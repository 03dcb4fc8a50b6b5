// SPDX-License-Identifier: GPL-2.0-only
/* Traces of ARM's trace macrocells. Decoding is OpenCSD's; this is the only file that uses it. */
#include "recording.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cli.h"

#ifdef KTAU_HAVE_OPENCSD
#include <opencsd/c_api/opencsd_c_api.h>

/* What OpenCSD takes at once: a whole number of frames. */
#define BLOCK_BYTES	(1U << 20)

/* OpenCSD's lengths have 32 bits. */
#define PIECE_BYTES	(1U << 30)

#define FRAME_BYTES	16

/**
 * struct decoding - one buffer being decoded
 * @r: recording
 * @buffer: its buffer
 * @tree: OpenCSD's decoders
 * @by_id: sources by their number in the buffer
 * @only: the source of a buffer that is not formatted
 */
struct decoding {
	struct recording *r;
	const struct trace_buffer *buffer;
	dcd_tree_handle_t tree;
	struct trace_source *by_id[256];
	struct trace_source *only;
};

static enum cycles_kind kind_of(ocsd_gen_trc_elem_t type)
{
	switch (type) {
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
	case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
		return CYCLES_RANGE;
	case OCSD_GEN_TRC_ELEM_CYCLE_COUNT:
		return CYCLES_COUNT;
	case OCSD_GEN_TRC_ELEM_TRACE_ON:
	case OCSD_GEN_TRC_ELEM_NO_SYNC:
		return CYCLES_GAP;
	case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
		return CYCLES_RESUME;
	case OCSD_GEN_TRC_ELEM_ADDR_NACC:
		return CYCLES_UNREAD;
	default:
		return CYCLES_OTHER;
	}
}

static void note_problem(struct trace_source *source, uint64_t offset, const char *what)
{
	if (!source->problems++)
		snprintf(source->problem, sizeof(source->problem), "%s at byte %" PRIu64, what,
			 offset);
}

static ocsd_datapath_resp_t take_element(const void *arg, const ocsd_trc_index_t index,
					 const uint8_t id, const ocsd_generic_trace_elem *elem)
{
	const struct decoding *d = arg;
	struct trace_source *source = d->only ? d->only : d->by_id[id];
	struct cycles_element e = {
		.kind = kind_of(elem->elem_type),
		.isa = elem->isa == ocsd_isa_thumb2 ? CYCLES_THUMB : CYCLES_WORDS,
		.has_count = elem->has_cc,
		.start = elem->st_addr,
		.end = elem->en_addr,
		.cycles = elem->cycle_count,
	};

	if (!source)
		return OCSD_RESP_CONT;
	if (e.kind == CYCLES_RANGE) {
		e.nr_instructions = elem->num_instr_range;
		e.branches = elem->last_instr_exec && (elem->last_i_type == OCSD_INSTR_BR ||
						       elem->last_i_type == OCSD_INSTR_BR_INDIRECT);
		if (!e.nr_instructions || e.end <= e.start)
			return OCSD_RESP_CONT;
	}
	if (elem->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC &&
	    elem->unsync_eot_info == UNSYNC_BAD_PACKET) {
		e.kind = CYCLES_DAMAGE;
		note_problem(source, index, "a packet that cannot be decoded");
	}
	cycles_add(&source->cycles, &e);
	return OCSD_RESP_CONT;
}

/* The value of a register, or 0 with the name of the register in @missing. */
static uint32_t need(const struct trace_source *source, const char *name, const char **missing)
{
	const uint64_t *value = trace_source_get(source, name);

	if (!value && !*missing)
		*missing = name;
	return value ? (uint32_t)*value : 0;
}

static uint32_t optional(const struct trace_source *source, const char *name)
{
	const uint64_t *value = trace_source_get(source, name);

	return value ? (uint32_t)*value : 0;
}

/* From the type of a core, such as "Cortex-A7", "Cortex-R52" or "ARMv8.3-A". */
static ocsd_arch_profile_t architecture(const struct trace_source *source)
{
	ocsd_arch_profile_t arch = { ARCH_V7, profile_CortexA };
	const char *core = source->core;
	long number;

	if (source->protocol == TRACE_ETMV4)
		arch.arch = ARCH_V8;
	if (source->protocol == TRACE_ETE)
		arch.arch = ARCH_AA64;
	if (strncasecmp(core, "Cortex-", 7))
		return arch;
	number = strtol(core + 8, NULL, 10);
	switch (toupper((unsigned char)core[7])) {
	case 'M':
		arch.profile = profile_CortexM;
		arch.arch = number >= 23 ? ARCH_V8 : ARCH_V7;
		break;
	case 'R':
		arch.profile = profile_CortexR;
		arch.arch = number >= 52 ? ARCH_V8 : ARCH_V7;
		break;
	case 'A':
		if (source->protocol != TRACE_ETE)
			arch.arch = number >= 32 ? ARCH_V8 : ARCH_V7;
		break;
	}
	return arch;
}

/* The configuration of each protocol; bit 12 of ETMCR and bit 4 of TRCCONFIGR count cycles. */
union config {
	ocsd_etmv3_cfg etmv3;
	ocsd_ptm_cfg ptm;
	ocsd_etmv4_cfg etmv4;
	ocsd_ete_cfg ete;
};

static const char *configure_etmv3(struct trace_source *source, ocsd_etmv3_cfg *c,
				   const char **missing)
{
	ocsd_arch_profile_t arch = architecture(source);

	*c = (ocsd_etmv3_cfg){
		.reg_idr = need(source, "ETMIDR", missing),
		.reg_ctrl = need(source, "ETMCR", missing),
		.reg_ccer = need(source, "ETMCCER", missing),
		.reg_trc_id = need(source, "ETMTRACEIDR", missing),
		.arch_ver = arch.arch,
		.core_prof = arch.profile,
	};
	source->counts = c->reg_ctrl & (1U << 12);
	source->id = c->reg_trc_id & 0x7f;
	return OCSD_BUILTIN_DCD_ETMV3;
}

static const char *configure_ptm(struct trace_source *source, ocsd_ptm_cfg *c,
				 const char **missing)
{
	ocsd_arch_profile_t arch = architecture(source);

	*c = (ocsd_ptm_cfg){
		.reg_idr = need(source, "ETMIDR", missing),
		.reg_ctrl = need(source, "ETMCR", missing),
		.reg_ccer = need(source, "ETMCCER", missing),
		.reg_trc_id = need(source, "ETMTRACEIDR", missing),
		.arch_ver = arch.arch,
		.core_prof = arch.profile,
	};
	source->counts = c->reg_ctrl & (1U << 12);
	source->id = c->reg_trc_id & 0x7f;
	return OCSD_BUILTIN_DCD_PTM;
}

static const char *configure_etmv4(struct trace_source *source, ocsd_etmv4_cfg *c,
				   const char **missing)
{
	ocsd_arch_profile_t arch = architecture(source);

	*c = (ocsd_etmv4_cfg){
		.reg_idr0 = need(source, "TRCIDR0", missing),
		.reg_idr1 = need(source, "TRCIDR1", missing),
		.reg_idr2 = need(source, "TRCIDR2", missing),
		.reg_idr8 = optional(source, "TRCIDR8"),
		.reg_idr9 = optional(source, "TRCIDR9"),
		.reg_idr10 = optional(source, "TRCIDR10"),
		.reg_idr11 = optional(source, "TRCIDR11"),
		.reg_idr12 = optional(source, "TRCIDR12"),
		.reg_idr13 = optional(source, "TRCIDR13"),
		.reg_configr = need(source, "TRCCONFIGR", missing),
		.reg_traceidr = need(source, "TRCTRACEIDR", missing),
		.arch_ver = arch.arch,
		.core_prof = arch.profile,
	};
	source->counts = c->reg_configr & (1U << 4);
	source->id = c->reg_traceidr & 0x7f;
	return OCSD_BUILTIN_DCD_ETMV4I;
}

static const char *configure_ete(struct trace_source *source, ocsd_ete_cfg *c,
				 const char **missing)
{
	ocsd_arch_profile_t arch = architecture(source);

	*c = (ocsd_ete_cfg){
		.reg_idr0 = need(source, "TRCIDR0", missing),
		.reg_idr1 = need(source, "TRCIDR1", missing),
		.reg_idr2 = need(source, "TRCIDR2", missing),
		.reg_idr8 = optional(source, "TRCIDR8"),
		.reg_devarch = need(source, "TRCDEVARCH", missing),
		.reg_configr = need(source, "TRCCONFIGR", missing),
		.reg_traceidr = need(source, "TRCTRACEIDR", missing),
		.arch_ver = arch.arch,
		.core_prof = arch.profile,
	};
	source->counts = c->reg_configr & (1U << 4);
	source->id = c->reg_traceidr & 0x7f;
	return OCSD_BUILTIN_DCD_ETE;
}

static const char *configure(struct trace_source *source, union config *config,
			     const char **missing)
{
	switch (source->protocol) {
	case TRACE_ETMV3:
		return configure_etmv3(source, &config->etmv3, missing);
	case TRACE_PTM:
		return configure_ptm(source, &config->ptm, missing);
	case TRACE_ETMV4:
		return configure_etmv4(source, &config->etmv4, missing);
	case TRACE_ETE:
		return configure_ete(source, &config->ete, missing);
	default:
		return NULL;
	}
}

/* Create the decoder of a source. 0, 1 if there is none for it, -1 with a message. */
static int create_decoder(struct decoding *d, struct trace_source *source)
{
	const char *missing = NULL, *name;
	union config config;
	unsigned char id;

	name = configure(source, &config, &missing);
	if (!name)
		return 1;
	if (missing) {
		complain("%s: %s has no register %s", d->r->path, source->name, missing);
		return -1;
	}
	if (!source->decoded)
		cycles_init(&source->cycles, trace_protocol_rule(source->protocol));
	/* A source that is not a program's, such as ITM, has no decoder either. */
	if (ocsd_dt_create_decoder(d->tree, name, OCSD_CREATE_FLG_FULL_DECODER, &config, &id))
		return 1;
	source->decoded = true;
	d->by_id[source->id] = source;
	if (!d->buffer->formatted)
		d->only = source;
	return 0;
}

static int create_decoders(struct decoding *d)
{
	int index = (int)(d->buffer - d->r->buffers), nr = 0, err;
	size_t i;

	for (i = 0; i < d->r->nr_sources; i++) {
		if (d->r->sources[i].buffer != index &&
		    d->r->sources[i].buffer != TRACE_ANY_BUFFER)
			continue;
		err = create_decoder(d, &d->r->sources[i]);
		if (err < 0)
			return err;
		nr += !err;
	}
	return nr;
}

static int add_code(struct decoding *d)
{
	const struct code_piece *piece;
	uint64_t at, bytes;
	size_t i;

	for (i = 0; i < d->r->code.nr; i++) {
		piece = &d->r->code.pieces[i];
		for (at = piece->start; at < piece->end; at += bytes) {
			bytes = piece->end - at;
			if (bytes > PIECE_BYTES)
				bytes = PIECE_BYTES;
			if (ocsd_dt_add_buffer_mem_acc(d->tree, at, OCSD_MEM_SPACE_ANY,
						       piece->data + (at - piece->start),
						       (uint32_t)bytes)) {
				complain("%s: code at 0x%" PRIx64 " cannot be used", d->r->path,
					 at);
				return -1;
			}
		}
	}
	return 0;
}

/* What was counted until the next synchronisation belongs to the damage. */
static void restart(struct decoding *d, uint64_t offset)
{
	const struct cycles_element damage = { .kind = CYCLES_DAMAGE };
	ocsd_trc_index_t index = OCSD_BAD_TRC_INDEX;
	struct trace_source *source;
	uint8_t id = OCSD_BAD_CS_SRC_ID;
	char text[128] = "";
	ocsd_err_t err;
	size_t i;

	err = ocsd_get_last_err(&index, &id, text, sizeof(text));
	if (index != OCSD_BAD_TRC_INDEX)
		offset = index;
	ocsd_err_str(err, text, sizeof(text));
	source = d->only ? d->only : id != OCSD_BAD_CS_SRC_ID ? d->by_id[id] : NULL;
	for (i = 0; i < 256; i++) {
		if (!d->by_id[i] || (source && source != d->by_id[i]))
			continue;
		note_problem(d->by_id[i], offset, text);
		cycles_add(&d->by_id[i]->cycles, &damage);
	}
	ocsd_dt_process_data(d->tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
}

/* @offset: of @part in the buffer. */
static void decode_part(struct decoding *d, const struct trace_part *part, uint64_t offset)
{
	uint64_t end = part->bytes, at = 0, bytes;
	ocsd_datapath_resp_t resp;
	uint32_t used;

	/* An incomplete frame at the end has nothing that can be decoded. */
	if (d->buffer->formatted)
		end -= end % FRAME_BYTES;
	while (at < end) {
		bytes = end - at < BLOCK_BYTES ? end - at : BLOCK_BYTES;
		used = 0;
		resp = ocsd_dt_process_data(d->tree, OCSD_OP_DATA, offset + at, (uint32_t)bytes,
					    part->data + at, &used);
		at += used;
		if (OCSD_DATA_RESP_IS_CONT(resp) && used)
			continue;
		/* Go on behind what cannot be decoded. */
		restart(d, offset + at);
		at += d->buffer->formatted ? FRAME_BYTES - at % FRAME_BYTES : !used;
	}
	ocsd_dt_process_data(d->tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
}

static void decode(struct decoding *d)
{
	const struct cycles_element damage = { .kind = CYCLES_DAMAGE };
	uint64_t offset = 0;
	size_t i, j;

	for (i = 0; i < d->buffer->nr_parts; i++) {
		if (i) {
			ocsd_dt_process_data(d->tree, OCSD_OP_RESET, 0, 0, NULL, NULL);
			for (j = 0; j < 256; j++)
				if (d->by_id[j])
					cycles_add(&d->by_id[j]->cycles, &damage);
		}
		decode_part(d, &d->buffer->parts[i], offset);
		offset += d->buffer->parts[i].bytes;
	}
	for (i = 0; i < 256; i++)
		if (d->by_id[i])
			cycles_finish(&d->by_id[i]->cycles);
}

static int decode_buffer(struct recording *r, const struct trace_buffer *buffer)
{
	struct decoding d = { .r = r, .buffer = buffer };
	int nr, err = 0;

	d.tree = ocsd_create_dcd_tree(buffer->formatted ? OCSD_TRC_SRC_FRAME_FORMATTED :
							  OCSD_TRC_SRC_SINGLE,
				      buffer->formatted ? OCSD_DFRMTR_FRAME_MEM_ALIGN : 0);
	if (d.tree == C_API_INVALID_TREE_HANDLE) {
		complain("out of memory");
		return -1;
	}
	ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0);
	nr = create_decoders(&d);
	if (nr < 0)
		err = nr;
	else if (nr)
		err = add_code(&d);
	if (!err && nr) {
		ocsd_dt_set_gen_elem_outfn(d.tree, take_element, &d);
		decode(&d);
	}
	ocsd_destroy_dcd_tree(d.tree);
	return err;
}

int coresight_decode(struct recording *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < r->nr_buffers && !err; i++)
		err = decode_buffer(r, &r->buffers[i]);
	return err;
}
#else
int coresight_decode(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->nr_sources; i++) {
		if (r->sources[i].protocol > TRACE_ETE)
			continue;
		complain("built without OpenCSD: install libopencsd-dev and build again");
		return -1;
	}
	return 0;
}
#endif
